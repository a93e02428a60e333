// A command that is left to the command line: a press copies it.

import { useState } from "preact/hooks";
import { visible } from "./format";

export function Command({ command, label }: { command: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
  };
  return (
    <button type="button" class="command" onClick={() => void copy()} title="Copy the command">
      {label && `${label} `}<code>{visible(command)}</code>{isCopied && " copied"}
    </button>
  );
}
