/** Requests to the server that serves this page. */

import { createParser } from "eventsource-parser";

export interface Problem {
  status: number;
  code: string;
  message: string;
  fix: string;
  /** The place in the request. */
  where?: string | null;
}

/** A request that did not succeed, in words for the user. */
export class RequestFailed extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export interface RequestOptions {
  json?: unknown;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

let signedOut: () => void = () => undefined;

/** Says what happens when the server no longer knows this browser. */
export function onSignedOut(then: () => void): void {
  signedOut = then;
}

/** Sends a request; the response is a success.
 * @throws RequestFailed - the server refused it, or cannot be reached.
 */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  let body = options.body;
  if (options.json !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.json);
  }
  let response: Response;
  try {
    response = await fetch(path, { method, headers, body: body ?? null, signal: options.signal ?? null });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw new RequestFailed({ status: 0, code: "unreachable", message: "", fix: "" });
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401) signedOut();
  throw new RequestFailed(problem);
}

/** Reads something again if it has changed since it was read with an entity tag; null if it has not. */
export async function sendIfChanged(path: string, tag: string): Promise<Response | null> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { "if-none-match": tag }, cache: "no-store" });
  } catch {
    throw new RequestFailed({ status: 0, code: "unreachable", message: "", fix: "" });
  }
  if (response.status === 304) return null;
  if (response.ok) return response;
  if (response.status === 401) signedOut();
  throw new RequestFailed(await problemOf(response));
}

/** Sends a request and reads the JSON of its response. */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return (await (await send(method, path, options)).json()) as T;
}

async function problemOf(response: Response): Promise<Problem> {
  const problem = { status: response.status, code: "error", message: response.statusText, fix: "" };
  try {
    const { error } = (await response.json()) as { error?: Partial<Problem> };
    return { ...problem, ...error, status: response.status };
  } catch {
    return problem; // a proxy answered, in words of its own
  }
}

/** The JSON documents in a body of server-sent events. */
 
export async function* framesOf<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  const found: T[] = [];
  const parser = createParser({ onEvent: (frame) => found.push(JSON.parse(frame.data) as T) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* found.splice(0);
  }
}
