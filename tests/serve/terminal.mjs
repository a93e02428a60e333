// A captured screen of a terminal as a page, for a picture of it.

const COLOURS = { 3: "#ffd166", 9: "#ff5c72", 12: "#62a8f5" };
const PAPER = "#151615";
const INK = "#d7d7d0";

/** The number of a colour that the codes choose, if they choose one. */
function colourOf(codes) {
  const at = codes.indexOf(38);
  if (at >= 0 && codes[at + 1] === 5) return codes[at + 2];
  const plain = codes.find((code) => (code >= 30 && code <= 37) || (code >= 90 && code <= 97));
  return plain === undefined ? undefined : plain < 90 ? plain - 30 : plain - 82;
}

/** A screen as `tmux capture-pane -e` prints it. */
export function pageOf(captured) {
  let style = { bold: false, dim: false, back: false, colour: undefined };
  const escape = (text) =>
    text.replace(/[&<>]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[one]);
  const spans = captured.split("\x1b[").map((part, at) => {
    let text = part;
    if (at > 0) {
      const end = part.indexOf("m");
      const codes = part.slice(0, end).split(";").map(Number);
      text = part.slice(end + 1);
      if (codes.includes(0)) style = { bold: false, dim: false, back: false, colour: undefined };
      if (codes[0] !== 38 && codes.includes(1)) style.bold = true;
      if (codes[0] !== 38 && codes.includes(2)) style.dim = true;
      if (codes[0] !== 38 && codes.includes(7)) style.back = true;
      if (codes.includes(39)) style.colour = undefined;
      style.colour = colourOf(codes) ?? style.colour;
    }
    let [ink, paper] = [COLOURS[style.colour] ?? INK, "transparent"];
    if (style.back) [ink, paper] = [PAPER, ink];
    const css = `color:${ink};background:${paper};opacity:${style.dim ? 0.65 : 1};` +
      `font-weight:${style.bold ? 700 : 400}`;
    return `<span style="${css}">${escape(text)}</span>`;
  });
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;background:${PAPER}">` +
    `<pre style="margin:0;padding:12px;display:inline-block;background:${PAPER};` +
    `font:14px/1.25 'DejaVu Sans Mono',monospace">${spans.join("")}</pre>`;
}
