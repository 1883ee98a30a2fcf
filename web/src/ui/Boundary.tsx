import { Component } from "react";
import type { ReactNode } from "react";

interface BoundaryProps {
  /** What is shown in place of children that cannot be drawn. */
  fallback: ReactNode;
  /** What is drawn; when it is another, the children are tried again. */
  of?: unknown;
  children: ReactNode;
}

/** Keeps an error of what it holds from taking the rest of the page along. */
export class Boundary extends Component<BoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidUpdate(before: BoundaryProps): void {
    if (this.state.hasFailed && before.of !== this.props.of) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
