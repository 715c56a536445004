import { Clock, Console, Effect, FileSystem, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import * as EmailAddresses from "../services/identity/EmailAddresses.ts"
import { Instance } from "../services/instance/Instance.ts"
import type { InstanceChange } from "../services/instance/InstanceChange.ts"
import { InstanceSettings } from "../services/instance/InstanceSettings.ts"
import { traced } from "../services/runtime/Traced.ts"
import * as InstanceServices from "./InstanceServices.ts"
import { asOperatorError, findUser } from "./Lookup.ts"

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

/** Returns the change of a field whose flag was given; empty without the flag. */
const part = Effect.fnUntraced(function*<const Key extends keyof InstanceChange, A, E, R>(
  key: Key,
  given: Option.Option<string>,
  read: (text: string) => Effect.Effect<A, E, R>
) {
  return Option.isNone(given) ? {} : { [key]: yield* read(given.value) }
})

export const set = Command.make(
  "set",
  {
    title: text("title", "The server's name"),
    description: text("description", "Description in one or two sentences"),
    extendedDescription: text("extended-description", "File with the extended description: plain text or HTML"),
    privacyPolicy: text("privacy-policy", "File with the privacy policy: plain text or HTML"),
    terms: text("terms", "File with the terms of service: plain text or HTML"),
    termsDate: text("terms-date", "Effective date of the terms, as 2026-01-31; default is today"),
    contactEmail: text("contact-email", "Contact address of the operator"),
    contactAccount: text("contact-account", "Contact account; default is the first owner"),
    accentColor: text("accent-color", "Color of links and buttons, as #rrggbb"),
    languages: text("languages", "Languages of the server, as comma-separated tags: en,pt-BR")
  },
  traced("instance set")(function*(given) {
    const plain = (value: string) => Effect.succeed(value)
    const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    const change: InstanceChange = {
      ...(yield* part("title", given.title, plain)),
      ...(yield* part("description", given.description, plain)),
      ...(yield* part("extendedDescription", given.extendedDescription, documentAt)),
      ...(yield* part(
        "privacyPolicy",
        given.privacyPolicy,
        (path) => Effect.map(documentAt(path), (policy) => ({ text: policy }))
      )),
      ...(yield* part(
        "termsOfService",
        given.terms,
        (path) =>
          Effect.map(
            documentAt(path),
            (terms) => ({ text: terms, since: Option.getOrElse(given.termsDate, () => today) })
          )
      )),
      ...(yield* part("accentColor", given.accentColor, plain)),
      ...(yield* part("contactEmail", given.contactEmail, addressOf)),
      ...(yield* part(
        "contactAccount",
        given.contactAccount,
        (name) => name === "" ? Effect.succeed("") : Effect.map(findUser(name), ({ username }) => username)
      )),
      ...(yield* part(
        "languages",
        given.languages,
        (tags) => Effect.succeed(tags.split(",").map((tag) => tag.trim()).filter(Boolean))
      ))
    }
    if (Object.keys(change).length === 0) {
      return yield* new OperatorError({ message: "Nothing to set; see --help for the options" })
    }
    yield* asOperatorError((yield* InstanceSettings).change(undefined, change))
    yield* Console.log(`Set: ${Object.keys(change).join(", ")}.`)
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(Command.withDescription("Sets instance information; an empty value (\"\") removes it"))

export const show = Command.make(
  "show",
  {},
  traced("instance show")(function*() {
    const instance = yield* Instance
    const about = yield* instance.about
    const rules = yield* instance.rules
    const pictured = (value: object | null) => value === null ? "default" : "set"
    const document = (value: { readonly html: string } | null) =>
      value === null ? "-" : `${value.html.length} characters`
    yield* Console.log([
      `Title: ${about.title}`,
      `Description: ${about.shortDescription || "-"}`,
      `Extended description: ${document(about.extendedDescription)}`,
      `Privacy policy: ${document(about.privacyPolicy)}`,
      `Terms of service: ${document(about.termsOfService)}${
        about.termsOfService === null ? "" : `, from ${about.termsOfService.since}`
      }`,
      `Contact: ${about.contactEmail || "-"}, ${about.contactUsername === null ? "-" : `@${about.contactUsername}`}`,
      `Languages: ${about.languages.join(", ")}`,
      `Color: ${about.accentColor ?? "-"}`,
      `Picture: ${pictured(about.thumbnail)}, icon: ${pictured(about.appIcon)}, favicon: ${pictured(about.favicon)}`,
      `Rules: ${rules.length}`
    ].join("\n"))
  }, (effect) => Effect.provide(effect, InstanceServices.layer))
).pipe(Command.withDescription("Shows instance information"))
