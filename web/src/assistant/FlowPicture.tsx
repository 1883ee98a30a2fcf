import type { FlowDocument } from "../api/contract";
import { edgesOf, idOf, nodesOf, titleOf } from "../flow/document";
import { shortened } from "../ui/shortened";

const NODE = { width: 280, height: 120 };
const EDGE = 30;
/** How wide a card draws it, in pixels, and the size of its letters there. */
const [CARD, LETTER] = [340, 11];
/** Titles of more components than this could not be read. */
const MOST_TITLED = 6;

/** A flow as it would stand on the canvas, drawn small: its components in their places, and their connections. */
export function FlowPicture({ flow }: { flow: FlowDocument }) {
  const nodes = nodesOf(flow).map((node) => ({ id: idOf(node), title: titleOf(node), x: node.position?.["x"] ?? 0, y: node.position?.["y"] ?? 0 }));
  if (nodes.length === 0) return null;
  const places = new Map(nodes.map((node) => [node.id, node]));
  const [left, top] = [Math.min(...nodes.map(({ x }) => x)) - EDGE, Math.min(...nodes.map(({ y }) => y)) - EDGE];
  const width = Math.max(...nodes.map(({ x }) => x)) + NODE.width + EDGE - left;
  const height = Math.max(...nodes.map(({ y }) => y)) + NODE.height + EDGE - top;
  const letter = (LETTER * Math.max(width, 2 * NODE.width)) / CARD;
  return (
    <svg className="picture" viewBox={`${left} ${top} ${width} ${height}`} aria-hidden="true">
      {edgesOf(flow).map((edge, at) => {
        const [from, to] = [places.get(edge.source), places.get(edge.target)];
        return from === undefined || to === undefined ? null : <path key={at} d={curve(from, to)} />;
      })}
      {nodes.map(({ id, title, x, y }) => (
        <g key={id}>
          <rect x={x} y={y} width={NODE.width} height={NODE.height} rx={16} />
          {nodes.length <= MOST_TITLED && (
            <text x={x + NODE.width / 2} y={y + NODE.height / 2} fontSize={letter}>
              {shortened(title, Math.floor((NODE.width - EDGE) / (0.62 * letter)))}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

interface Place {
  x: number;
  y: number;
}

/** From the right side of a component to the left side of another. */
function curve(from: Place, to: Place): string {
  const [x1, y1, x2, y2] = [from.x + NODE.width, from.y + NODE.height / 2, to.x, to.y + NODE.height / 2];
  const bend = Math.max(40, Math.abs(x2 - x1) / 2);
  return `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}`;
}
