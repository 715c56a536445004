import { Effect, Option, Schema } from "effect"
import { IdFromString } from "../../../services/database/Ids.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"

const decode = Schema.decodeOption(IdFromString)

/** Parses an optional id: null if it is absent, RecordNotFound if it is invalid. */
export const decodeId = (given: string | null | undefined) => {
  if (given === undefined || given === null || given === "") return Effect.succeed(null)
  const id = decode(given)
  return Option.isNone(id) ? new RecordNotFound() : Effect.succeed(id.value)
}
