import type { ButtonHTMLAttributes, ReactNode } from "react";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "quiet" | "danger";
  icon?: ReactNode;
  /** The name of a button that shows its icon alone. */
  label?: string;
}

/** A button; one with a `label` and no children is an icon with a name and a tooltip. */
export function Button({ look = "quiet", icon, label, children, className = "", ...rest }: ButtonProps) {
  const isIcon = children === undefined;
  return (
    <button type="button" className={`button ${look} ${isIcon ? "icon" : ""} ${className}`} aria-label={label} title={label} {...rest}>
      {icon}
      {children}
    </button>
  );
}
