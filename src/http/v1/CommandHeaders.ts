import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { CommandResponse } from "../../services/intents/Commands.ts"
import * as Reply from "../guard/Reply.ts"

/** Returns the rate limit headers of a command's family; none if the command has no limit. */
export const familyHeaders = ({ standing }: CommandResponse): Record<string, string> =>
  standing === undefined ? {} : Reply.limitHeaders(standing)

/** The client's Idempotency-Key, if it sends one. It is cut to 255 characters, as no client means a longer one. */
export const idempotencyKey = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers["idempotency-key"]?.slice(0, 255) || undefined
)
