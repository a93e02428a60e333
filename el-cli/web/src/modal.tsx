// A dialog over the page. It is gone at once: the next key is the page's.

import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  /** Takes the dialog off the page. */
  close: () => void;
  children: ComponentChildren;
  class?: string;
  "aria-label"?: string;
  "aria-labelledby"?: string;
  self?: RefObject<HTMLDialogElement | null>;
}

export function Modal({ close, children, self, ...named }: Props) {
  const own = useRef<HTMLDialogElement>(null);
  const dialog = self ?? own;
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Before it leaves the page: the focus goes back to where it was.
    return () => shown?.close();
  }, []);
  // A browser tells of the end only later, when this may be another dialog's time.
  const closeLate = () => {
    if (dialog.current) close();
  };
  return (
    <dialog ref={dialog} onCancel={close} onClose={closeLate} {...named}>{children}</dialog>
  );
}
