import { Schema, SchemaTransformation } from "effect"

/*
 * Parameters as clients send them: a form or a query has strings only, and JSON has its own types. Rails accepts both,
 * and clients rely on its conventions (operations.md section 0).
 */

const falseWords = new Set(["0", "f", "F", "false", "FALSE", "off", "OFF"])

/** A boolean: `0`, `f`, `F`, `false`, `FALSE`, `off` and `OFF` are false; empty is unset; anything else is true. */
export const Flag = Schema.Union([Schema.String, Schema.Boolean, Schema.Number, Schema.Null]).pipe(
  Schema.decodeTo(
    Schema.UndefinedOr(Schema.Boolean),
    SchemaTransformation.transform({
      decode: (given) => given === null || given === "" ? undefined : !falseWords.has(String(given)),
      encode: (flag) => flag ?? null
    })
  )
).annotate({ description: "A boolean; 0, f, false and off are false, empty is unset, anything else is true" })

/** A whole number; an invalid one counts as absent, so that `limit=abc` still gets a page. */
export const Integer = Schema.Union([Schema.String, Schema.Number, Schema.Null]).pipe(
  Schema.decodeTo(
    Schema.UndefinedOr(Schema.Int),
    SchemaTransformation.transform({
      decode: (given) => {
        const number = typeof given === "number" ? Math.trunc(given) : Number.parseInt(given ?? "", 10)
        return Number.isSafeInteger(number) ? number : undefined
      },
      encode: (number) => number ?? null
    })
  )
)

/**
 * A text, which JSON may send as a number or boolean. Those are in a union of their own. In one union with strings,
 * effect's codec for queries would try numbers first, round long ids and turn 007 into 7.
 */
export const Text = Schema.Union([Schema.String, Schema.Union([Schema.Number, Schema.Boolean])]).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string | number | boolean>({ decode: String, encode: (text) => text })
  )
)

/**
 * An object, or a list of them; a scalar in its place counts as absent, as in Rails: some clients send
 * `fields_attributes=undefined` for none.
 */
export const hash = <S extends Schema.Constraint>(schema: S) => Schema.Union([schema, dropped])

const dropped = Schema.Union([Schema.String, Schema.Union([Schema.Number, Schema.Boolean]), Schema.Null]).pipe(
  Schema.decodeTo(
    Schema.Undefined,
    SchemaTransformation.transform<undefined, string | number | boolean | null>({
      decode: () => undefined,
      encode: () => null
    })
  )
)

type Given<A> = ReadonlyArray<A> | null | "" | A

/**
 * A list; a single value is a list of one. `null`, or the empty string of a form, is the empty list. Empty texts in the
 * list, which forms send for "none", are left out.
 */
export const list = <A, I extends string | number | boolean | object>(
  item: Schema.Codec<A, I>
): Schema.Codec<ReadonlyArray<A>, Given<I>> =>
  Schema.Union([Schema.Array(item), Schema.Null, Schema.Literal(""), item]).pipe(
    Schema.decodeTo(
      Schema.Array(Schema.toType(item)),
      SchemaTransformation.transform<ReadonlyArray<A>, Given<A>>({
        decode: (given) =>
          isList(given) ? given.filter((one) => one !== "") : given === null || given === "" ? [] : [given],
        encode: (items) => items
      })
    )
  )

const isList = <A>(given: Given<A>): given is ReadonlyArray<A> => Array.isArray(given)
