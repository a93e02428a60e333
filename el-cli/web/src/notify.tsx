// Desktop notifications, by choice: one when the queue goes from empty to not empty, then silence.

import { effect, signal } from "@preact/signals";
import { visible } from "./format";
import { board, hello } from "./state";

const CHOICE = "notify";
const isOn = signal(localStorage.getItem(CHOICE) === "on");

export function startNotices(): void {
  let before: number | null = null;
  effect(() => {
    const now = board.value;
    if (!now) return;
    const isNew = before === 0 && now.needs.total > 0;
    before = now.needs.total;
    const first = now.needs.items[0];
    // Who sees the page needs no notice of it.
    if (!isNew || !first || !isOn.value || document.visibilityState === "visible") return;
    if (Notification.permission !== "granted") return;
    const head = `${hello.value?.project ?? "el"}: ${first.kind}`.replaceAll("_", " ");
    const notice = new Notification(head, {
      body: visible(first.title),
      // Those of further tabs take the place of the first one.
      tag: `el ${location.host}`,
    });
    notice.onclick = () => {
      window.focus();
      notice.close();
    };
  });
}

export function NoticeChoice() {
  if (!("Notification" in window)) return null;
  const change = async (wants: boolean) => {
    const may = wants ? await Notification.requestPermission() : "denied";
    isOn.value = may === "granted";
    localStorage.setItem(CHOICE, isOn.value ? "on" : "off");
  };
  const isRefused = Notification.permission === "denied";
  return (
    <label class="check quiet">
      <input type="checkbox" checked={isOn.value} disabled={isRefused}
        onChange={(event) => void change(event.currentTarget.checked)} />
      {isRefused ? "The browser refuses notices" : "Notify me when something needs me"}
    </label>
  );
}
