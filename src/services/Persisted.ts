import { Effect, Schema } from "effect"

/** What says of which shape the rest is. What was kept before versions were written is of the first one. */
const Versioned = Schema.Struct({ version: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))) })
const decodeVersion = Schema.decodeUnknownEffect(Versioned)

/** Kept by a newer program than this one, which cannot read it. */
class NewerVersion extends Schema.TaggedError<NewerVersion>()("NewerVersion", { version: Schema.Int }) {}

/**
 * A value as JSON in a row, which a later program reads. A field that comes is decoded with a default, and `version` stays; it
 * grows with a change that an older program would misread. What cannot be read is a defect.
 */
export const persisted = <Value extends Schema.Codec<unknown, unknown>>(schema: Value, version: number) => {
  const json = Schema.toCodecJson(schema)
  const encode = Schema.encodeEffect(json)
  const decode = Schema.decodeUnknownEffect(json)
  return {
    encode: (value: Value["Type"]): Effect.Effect<string> =>
      Effect.orDie(Effect.map(encode(value), (encoded) => JSON.stringify(Object.assign({ version }, encoded)))),
    decode: (kept: unknown): Effect.Effect<Value["Type"]> =>
      decodeVersion(kept).pipe(
        Effect.filterOrFail((found) => found.version <= version, (found) => new NewerVersion(found)),
        Effect.andThen(decode(kept)),
        Effect.orDie
      )
  }
}
