/** The types of the HTTP contract, as the server's own description generates them. */

import type { components } from "./openapi";

export type Schemas = components["schemas"];
export type FlowEntry = Schemas["FlowEntry"];
export type WholeFlow = Schemas["WholeFlow"];
export type ComponentTypeEntry = Schemas["ComponentTypeEntry"];
export type WholeComponent = Schemas["WholeComponent"];
export type TemplateEntry = Schemas["TemplateEntry"];
export type Conversation = Schemas["Conversation"];
export type TranscriptMessage = Schemas["TranscriptMessage"];
export type Revision = Schemas["Revision"];
export type ConfigReply = Schemas["ConfigReply"];
export type UserFile = Schemas["UserFile"];

export type {
  AssistRequest,
  CompleteData,
  Decision,
  EdgeDocument,
  EditQuestion,
  Event,
  Fault,
  FlowDocument,
  NodeDocument,
  RunMetrics,
  RunResult,
  Todo,
  TokenCount,
  TurnRecord,
} from "../../../docs/contract/types";

import type { CompleteData } from "../../../docs/contract/types";

export type Question = NonNullable<CompleteData["approvals"]>[number];
