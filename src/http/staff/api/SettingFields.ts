import { Effect, Record } from "effect"
import type { SettingKind, SettingKinds } from "../../../services/instance/SettingKinds.ts"
import {
  type KindOf,
  type SettingKey,
  settingKeys,
  settings,
  type SettingValues
} from "../../../services/instance/SettingTable.ts"
import { collectChanges } from "../../../services/instance/SettingValues.ts"
import type { StorageBudgets } from "../../../services/instance/StorageBudgets.ts"
import { decodeTimelineReaders, type TimelinesAccess } from "../../../services/instance/TimelinesAccess.ts"
import { type Unprocessable, validationFailed } from "../../../services/runtime/Errors.ts"
import { encode, json, type JsonOf } from "../../wire/Keys.ts"
import { emailOf } from "../SettingEmail.ts"
import type { SettingRead, SettingsWrite, SettingWrite } from "../wire/AdminSettingsJson.ts"

interface FieldCode<Kind extends SettingKind> {
  readonly shown: (
    value: SettingKinds[Kind]["value"],
    params: SettingKinds[Kind]["params"]
  ) => JsonOf<SettingRead[Kind]>
  /** Reads a change; undefined leaves the setting unchanged. */
  readonly given: (
    given: SettingWrite[Kind] | undefined,
    now: SettingKinds[Kind]["value"],
    params: SettingKinds[Kind]["params"]
  ) => Effect.Effect<SettingKinds[Kind]["change"] | undefined, Unprocessable>
}

type Given = string | null | undefined
const text = { shown: encode<string>, given: (given: Given) => Effect.succeed(given === null ? "" : given) }
const nullable = { ...text, shown: encode<string | null> }

const kinds: { readonly [Kind in SettingKind]: FieldCode<Kind> } = {
  line: text,
  document: { ...text, shown: (document) => encode(document?.html ?? "") },
  email: { ...text, given: (given) => given === undefined ? Effect.undefined : emailOf(given ?? "") },
  account: nullable,
  language: nullable,
  languages: { shown: encode, given: Effect.succeed },
  agents: { shown: encode, given: Effect.succeed },
  color: nullable,
  choice: {
    shown: (word, { options }) => encode(options[word] ?? word),
    given: Effect.fnUntraced(function*(given, _now, { name, options }) {
      if (given === undefined) return undefined
      const found = Object.entries(options).find(([, word]) => word === given)
      return found === undefined ? yield* validationFailed(`${name} is not included in the list`) : found[0]
    })
  },
  flag: { shown: encode, given: Effect.succeed },
  count: { shown: encode, given: (given) => Effect.succeed(given ?? null) },
  access: {
    shown: (access) => json<SettingRead["access"]>(access),
    given: (given, now) => given === undefined ? Effect.undefined : accessOf(given, now)
  },
  budgets: {
    shown: (budgets) => encode(budgetsOf(budgets)),
    given: (given) =>
      Effect.succeed(
        given === undefined ? undefined : Object.fromEntries(
          Object.entries(given).filter(([, bytes]) => bytes !== null && bytes !== undefined)
        )
      )
  }
}

const budgetsOf = (budgets: StorageBudgets) => ({
  attachments: budgets.attachments ?? null,
  profiles: budgets.profiles ?? null,
  emoji: budgets.emoji ?? null,
  cards: budgets.cards ?? null,
  database: budgets.database ?? null
})

/** Returns the access of each timeline; omitted ones stay unchanged. */
const accessOf = Effect.fnUntraced(
  function*(given: NonNullable<SettingWrite["access"]>, before: TimelinesAccess) {
    const reach = Effect.fnUntraced(
      function*(feeds: keyof TimelinesAccess, origin: keyof TimelinesAccess["liveFeeds"]) {
        const text = given[feeds]?.[origin]
        if (text === undefined || text === null || text === "") return before[feeds][origin]
        return decodeTimelineReaders(text) ?? (yield* validationFailed("Timelines access is not included in the list"))
      }
    )
    const feedsOf = (feeds: keyof TimelinesAccess) =>
      Effect.all({ local: reach(feeds, "local"), remote: reach(feeds, "remote") })
    return { liveFeeds: yield* feedsOf("liveFeeds"), hashtagFeeds: yield* feedsOf("hashtagFeeds") }
  }
)

/** Returns the members of all settings, serialised, by their names in the API. */
export const settingMembers = (values: SettingValues): ReadonlyArray<readonly [name: string, json: string]> => {
  const shown = <Key extends SettingKey>(key: Key) => {
    const { kind, params } = settings[key]
    return kinds[kind].shown(values[key], params)
  }
  return settingKeys.map((key) => [settings[key].wire, shown(key)])
}

const absent = Record.map(settings, () => undefined)

/** Returns the settings that the request names. */
export const settingChangesOf = (payload: SettingsWrite, now: SettingValues) => {
  const given: { readonly [Key in SettingKey]: SettingWrite[KindOf[Key]] | undefined } = { ...absent, ...payload }
  return collectChanges((key) => {
    const { kind, params } = settings[key]
    return key in payload ? kinds[kind].given(given[key], now[key], params) : Effect.undefined
  })
}
