import { Effect, Schema } from "effect"

/** Version of the value's shape. Values stored before versions existed have version 1. */
const Versioned = Schema.Struct({ version: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))) })
const decodeVersion = Schema.decodeUnknownEffect(Versioned)

/** Stored by a newer program; this one cannot read it. */
class NewerVersion extends Schema.TaggedError<NewerVersion>()("NewerVersion", { version: Schema.Int }) {}

/**
 * JSON codec for a value in a row that later programs read. A new field is decoded with a default and keeps `version`;
 * raise `version` for a change that an older program would misread. A value that cannot be read is a defect.
 */
export const persisted = <Value extends Schema.Codec<unknown, unknown>>(schema: Value, version: number) => {
  const json = Schema.toCodecJson(schema)
  const encode = Schema.encodeEffect(json)
  const decode = Schema.decodeUnknownEffect(json)
  return {
    encode: (value: Value["Type"]): Effect.Effect<string> =>
      Effect.orDie(Effect.map(encode(value), (encoded) => JSON.stringify(Object.assign({ version }, encoded)))),
    decode: (stored: unknown): Effect.Effect<Value["Type"]> =>
      decodeVersion(stored).pipe(
        Effect.filterOrFail((found) => found.version <= version, (found) => new NewerVersion(found)),
        Effect.andThen(decode(stored)),
        Effect.orDie
      )
  }
}
