import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { CommandAnswer } from "../../services/intents/Commands.ts"
import * as Reply from "../guard/Reply.ts"

/** The headers of the family that a command used. */
export const familyHeaders = ({ standing }: CommandAnswer): Record<string, string> =>
  standing === undefined ? {} : Reply.limitHeaders(standing)

/** The client's Idempotency-Key, where it sends one; a longer one is cut, as no client means it. */
export const idempotencyKey = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers["idempotency-key"]?.slice(0, 255) || undefined
)
