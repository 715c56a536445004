import { Clock, Console, Effect, FileSystem, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import * as EmailAddresses from "../services/identity/EmailAddresses.ts"
import type { Users } from "../services/identity/Users.ts"
import { Instance } from "../services/instance/Instance.ts"
import type { InstanceChange } from "../services/instance/InstanceChange.ts"
import { InstanceSettings } from "../services/instance/InstanceSettings.ts"
import type { SettingKind, SettingKinds } from "../services/instance/SettingKinds.ts"
import { settingKeys, settings } from "../services/instance/SettingTable.ts"
import { collectChanges } from "../services/instance/SettingValues.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import * as InstanceServices from "./InstanceServices.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import { json, print } from "./Output.ts"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** Maximum bytes of a document file; the stored document has its own limit. */
const fileBytesMax = 1_048_576

const documentAt = Effect.fnUntraced(function*(path: string) {
  if (path === "") return ""
  const fs = yield* FileSystem.FileSystem
  const refused = (why: string) => new OperatorError({ message: `${path} ${why}` })
  const { size } = yield* Effect.mapError(fs.stat(path), () => refused("cannot be read"))
  if (Number(size) > fileBytesMax) return yield* refused(`is larger than ${fileBytesMax} bytes`)
  return yield* Effect.mapError(fs.readFileString(path), () => refused("cannot be read"))
})

const addressOf = Effect.fnUntraced(function*(given: string) {
  const address = given.trim() === "" ? "" : EmailAddresses.parse(given.trim())
  return address ?? (yield* new OperatorError({ message: `${given} is not an e-mail address` }))
})

interface FlagCode<Kind extends SettingKind> {
  readonly read: (text: string) => Effect.Effect<
    SettingKinds[Kind]["change"],
    OperatorError,
    FileSystem.FileSystem | Users
  >
}

const plain = { read: (text: string) => Effect.succeed(text) }

/** Reading of flags, by kind; undefined for kinds that have no flag. */
const kinds: { readonly [Kind in SettingKind]: FlagCode<Kind> | undefined } = {
  line: plain,
  document: { read: documentAt },
  email: { read: addressOf },
  account: {
    read: (name) => name === "" ? Effect.succeed("") : Effect.map(findUser(name), ({ username }) => username)
  },
  languages: { read: (tags) => Effect.succeed(tags.split(",").map((tag) => tag.trim()).filter(Boolean)) },
  color: plain,
  language: undefined,
  choice: undefined,
  flag: undefined,
  count: undefined,
  access: undefined,
  agents: undefined,
  budgets: undefined
}

const flags = Object.fromEntries(
  settingKeys.flatMap((key) => {
    const { flag } = settings[key]
    return flag === undefined ? [] : [[key, text(flag.name, flag.about)]]
  })
)

/** Reads the changes of settings whose flags were given. */
const changesOf = (given: Readonly<Record<string, Option.Option<string>>>) =>
  collectChanges((key) => {
    const value = given[key]
    const code = kinds[settings[key].kind]
    return value === undefined || Option.isNone(value) || code === undefined
      ? Effect.undefined
      : code.read(value.value)
  })

export const set = Command.make(
  "set",
  {
    ...flags,
    privacyPolicy: text("privacy-policy", "File with the privacy policy: plain text or HTML"),
    terms: text("terms", "File with the terms of service: plain text or HTML"),
    termsDate: text("terms-date", "Effective date of the terms, as 2026-01-31; default is today")
  },
  traced("instance set")(function*(given) {
    const { privacyPolicy, terms, termsDate } = given
    const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    const change: InstanceChange = {
      ...(yield* changesOf(given)),
      ...(Option.isSome(privacyPolicy) && { privacyPolicy: { text: yield* documentAt(privacyPolicy.value) } }),
      ...(Option.isSome(terms) && {
        termsOfService: { text: yield* documentAt(terms.value), since: Option.getOrElse(termsDate, () => today) }
      })
    }
    if (Object.keys(change).length === 0) {
      return yield* new OperatorError({ message: "Nothing to set; see --help for the options" })
    }
    yield* asOperatorError((yield* InstanceSettings).change(undefined, change))
    yield* Console.log(`Set: ${Object.keys(change).join(", ")}.`)
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Sets instance information; an empty value (\"\") removes it"),
  withExamples(
    ["--title \"Birds of Bavaria\" --languages de,en", "Sets title and languages"],
    ["--terms terms.html --terms-date 2027-01-01", "Sets terms that apply from a date"]
  )
)

export const show = Command.make(
  "show",
  { json },
  traced("instance show")(function*(given) {
    const instance = yield* Instance
    const about = yield* instance.about
    const rules = yield* instance.rules
    const pictured = (value: object | null) => value === null ? "default" : "set"
    const document = (value: { readonly html: string } | null) =>
      value === null ? "-" : `${value.html.length} characters`
    yield* print(
      given.json,
      { ...about, rules },
      [
        `Title: ${about.title}`,
        `Description: ${about.description || "-"}`,
        `Extended description: ${document(about.extendedDescription)}`,
        `Privacy policy: ${document(about.privacyPolicy)}`,
        `Terms of service: ${document(about.termsOfService)}${
          about.termsOfService === null ? "" : `, from ${about.termsOfService.since}`
        }`,
        `Contact: ${about.contactEmail || "-"}, ${about.contactAccount === null ? "-" : `@${about.contactAccount}`}`,
        `Languages: ${about.languages.join(", ")}`,
        `Color: ${about.accentColor ?? "-"}`,
        `Picture: ${pictured(about.thumbnail)}, icon: ${pictured(about.appIcon)}, favicon: ${pictured(about.favicon)}`,
        `Rules: ${rules.length}`
      ].join("\n")
    )
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(
  Command.withDescription("Shows instance information"),
  withExamples(["", "Shows title, texts, contact and pictures"])
)
