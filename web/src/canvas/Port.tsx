import { Handle, Position } from "@xyflow/react";

import { colourOf, lookOf } from "./colours";

interface PortProps {
  id: string;
  side: "in" | "out";
  label: string;
  types: readonly string[];
  isConnectable?: boolean;
}

/** A port of a node: where edges begin or end. */
export function Port({ id, side, label, types, isConnectable = true }: PortProps) {
  const { shape, letter } = lookOf(types);
  return (
    <Handle
      id={id}
      type={side === "in" ? "target" : "source"}
      position={side === "in" ? Position.Left : Position.Right}
      isConnectable={isConnectable}
      className={`port ${shape}`}
      style={{ "--port": colourOf(types) } as React.CSSProperties}
      data-letter={letter}
      title={`${label}: ${types.join(", ")}`}
    />
  );
}
