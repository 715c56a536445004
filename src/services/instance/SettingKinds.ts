import { Effect, Option, Schema } from "effect"
import type { Messages } from "../languages/Messages.ts"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { documentOf } from "./DocumentHtml.ts"
import { languageTag } from "./Languages.ts"
import {
  type BudgetKind,
  budgetKinds,
  storageBudgetBytesMax,
  type StorageBudgets,
  storageBudgetsOf
} from "./StorageBudgets.ts"
import { decodeTimelinesAccess, type TimelinesAccess } from "./TimelinesAccess.ts"

/** Maximum languages spoken on the server. */
const instanceLanguagesMax = 20

/** Maximum crawlers in `robots.txt`. */
const blockedCrawlersMax = 200

/** HTML that staff wrote, with the time of its last change. */
interface Document {
  readonly html: string
  readonly updatedAt: Date
}

interface Kind<Value, Change, Params = Record<never, never>, Field = FormField, Flag = never> {
  readonly value: Value
  readonly change: Change
  readonly params: Params
  readonly field: Field
  readonly flag: Flag
}

/** Flag of the command line; only kinds that it can read have one. */
interface CliFlag {
  readonly name: string
  readonly about: string
}

type Words = Pick<Messages, "say">

/** Field of the page of settings. */
interface FormField {
  readonly section: "about" | "registrations"
  readonly name: string
  readonly label: (words: Words) => string
  readonly hint?: (words: Words) => string
  /** Shows the field after the section's other ones. */
  readonly last?: boolean
}
/** `rows` makes the field a text area with this number of lines. */
interface TextField extends FormField {
  readonly rows?: number
}
/** `choices` has the label of each word. */
interface ChoiceField extends FormField {
  readonly choices: (words: Words) => Readonly<Record<string, string>>
}

/** `name` is the setting's name in refusals. */
interface Named {
  readonly name: string
}

/**
 * Kinds of settings: the value that readers get, the change that staff send, where an empty one removes the setting,
 * the parameters of a setting of this kind, its form field and its flag.
 */
export interface SettingKinds {
  /** One line of plain text. */
  readonly line: Kind<string, string, Named & { readonly charactersMax: number }, TextField, CliFlag>
  /** Plain text or HTML, stored as sanitised HTML. */
  readonly document: Kind<Document | null, string, Record<never, never>, TextField, CliFlag>
  /** A validated e-mail address. */
  readonly email: Kind<string, string, Record<never, never>, FormField, CliFlag>
  /** Username of a local account. */
  readonly account: Kind<string | null, string, Record<never, never>, FormField, CliFlag>
  /** Language tag (BCP 47). */
  readonly language: Kind<string | null, string>
  readonly languages: Kind<ReadonlyArray<string>, ReadonlyArray<string>, Record<never, never>, FormField, CliFlag>
  /** Names of crawlers, as `robots.txt` has them (RFC 9309, product token); an empty list differs from the default. */
  readonly agents: Kind<ReadonlyArray<string>, ReadonlyArray<string>>
  /** Colour as `#rrggbb`. */
  readonly color: Kind<string | null, string, Named, never, CliFlag>
  /** One of several words; `options` has the API's word for each. */
  readonly choice: Kind<
    string,
    string,
    Named & { readonly options: Readonly<Record<string, string>> },
    ChoiceField
  >
  readonly flag: Kind<boolean, boolean>
  /** A whole number from 1; null and 0 remove it. */
  readonly count: Kind<number | null, number | null, Named & { readonly max: number }>
  readonly access: Kind<TimelinesAccess, TimelinesAccess, Record<never, never>, never>
  readonly budgets: Kind<StorageBudgets, StorageBudgets, Record<never, never>, never>
}
export type SettingKind = keyof SettingKinds

type Stored = string | number | boolean | ReadonlyArray<string> | TimelinesAccess | StorageBudgets

interface KindCode<Name extends SettingKind> {
  /** Decodes a stored value; undefined for another shape, for example one edited by hand, which counts as unset. */
  readonly decode: (
    stored: unknown,
    updatedAt: Date,
    params: SettingKinds[Name]["params"]
  ) => SettingKinds[Name]["value"] | undefined
  /** Checks a change and returns the value to store; undefined removes the setting. */
  readonly check: (
    change: SettingKinds[Name]["change"],
    params: SettingKinds[Name]["params"]
  ) => Effect.Effect<Stored | undefined, Unprocessable>
}

const decoder = <A>(schema: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (stored: unknown): A | undefined => Option.getOrUndefined(decode(stored))
}
const decodeText = decoder(Schema.NonEmptyString)
const decodeTexts = decoder(Schema.Array(Schema.String))
const decodeInteger = decoder(Schema.Int)

const text = { decode: decodeText, check: (change: string) => Effect.succeed(change || undefined) }

const notATag = (tag: string) => validationFailed(`Languages ${tag} is not a language tag`)

/** Reading and checking of each kind. */
export const settingKinds: { readonly [Name in SettingKind]: KindCode<Name> } = {
  line: {
    decode: decodeText,
    check: Effect.fnUntraced(function*(change, { charactersMax, name }) {
      const line = change.replaceAll("\0", "").trim().replace(/\s+/g, " ")
      if (hasMoreCharacters(line, charactersMax)) {
        return yield* validationFailed(`${name} is too long (maximum is ${charactersMax} characters)`)
      }
      return line || undefined
    })
  },
  document: {
    decode: (stored, updatedAt) => {
      const html = decodeText(stored)
      return html === undefined ? undefined : { html, updatedAt }
    },
    check: (change) => Effect.map(documentOf(change), (html) => html || undefined)
  },
  email: text,
  account: text,
  language: {
    decode: decodeText,
    check: Effect.fnUntraced(function*(change) {
      const tag = languageTag(change)
      return change !== "" && tag === undefined ? yield* notATag(change) : tag
    })
  },
  languages: {
    decode: decodeTexts,
    check: Effect.fnUntraced(function*(change) {
      const tags = [...new Set(change.flatMap((tag) => languageTag(tag) ?? []))]
      const invalid = change.find((tag) => languageTag(tag) === undefined)
      if (invalid !== undefined) return yield* notATag(invalid)
      if (tags.length > instanceLanguagesMax) return yield* validationFailed("Languages are too many")
      return tags.length === 0 ? undefined : tags
    })
  },
  agents: {
    decode: decodeTexts,
    check: Effect.fnUntraced(function*(change) {
      const agents = [...new Set(change)]
      const invalid = agents.find((agent) => !/^[A-Za-z0-9_.-]{1,100}$/.test(agent))
      if (invalid !== undefined) return yield* validationFailed("Blocked crawlers is invalid")
      return agents.length > blockedCrawlersMax ? yield* validationFailed("Blocked crawlers is invalid") : agents
    })
  },
  color: {
    decode: decodeText,
    check: Effect.fnUntraced(function*(change, { name }) {
      const color = change.trim().toLowerCase()
      if (!/^(?:#[0-9a-f]{6})?$/.test(color)) return yield* validationFailed(`${name} is invalid`)
      return color || undefined
    })
  },
  choice: {
    decode: (stored, _updatedAt, { options }) => {
      const word = decodeText(stored)
      return word !== undefined && Object.hasOwn(options, word) ? word : undefined
    },
    check: Effect.fnUntraced(function*(change, { name, options }) {
      if (change !== "" && !Object.hasOwn(options, change)) {
        return yield* validationFailed(`${name} is not included in the list`)
      }
      return change || undefined
    })
  },
  // False is stored, too, for flags that are set by default.
  flag: { decode: (stored) => typeof stored === "boolean" ? stored : undefined, check: Effect.succeed },
  count: {
    decode: decodeInteger,
    check: Effect.fnUntraced(function*(change, { max, name }) {
      const count = change ?? 0
      if (count < 0 || count > max) return yield* validationFailed(`${name} must be between 0 and ${max}`)
      return count === 0 ? undefined : count
    })
  },
  access: { decode: decodeTimelinesAccess, check: Effect.succeed },
  budgets: {
    decode: storageBudgetsOf,
    check: Effect.fnUntraced(function*(change) {
      const budgets: { [Name in BudgetKind]?: number } = {}
      for (const kind of budgetKinds) {
        const bytes = change[kind]
        if (bytes === undefined || bytes === 0) continue
        if (!Number.isSafeInteger(bytes) || bytes < 0 || bytes > storageBudgetBytesMax) {
          return yield* validationFailed("Storage budget is invalid")
        }
        budgets[kind] = bytes
      }
      return Object.keys(budgets).length === 0 ? undefined : budgets
    })
  }
}
