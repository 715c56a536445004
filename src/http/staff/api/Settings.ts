import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as EmailAddresses from "../../../services/identity/EmailAddresses.ts"
import type { DocumentKind } from "../../../services/instance/Documents.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import type { InstanceChange } from "../../../services/instance/InstanceChange.ts"
import { InstanceDocuments } from "../../../services/instance/InstanceDocuments.ts"
import { InstancePolicies, type Policies } from "../../../services/instance/InstancePolicies.ts"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import { decodeTimelineReaders, type TimelinesAccess } from "../../../services/instance/SettingNames.ts"
import type { StorageBudgets } from "../../../services/instance/StorageBudgets.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { AdminSettings, SettingsWrite } from "../wire/Settings.ts"

const path = "/api/v1/admin/settings"

export class AdminSettingsGroup extends HttpApiGroup.make("admin/settings")
  .add(
    HttpApiEndpoint.get("show", path, { success: AdminSettings })
      .annotate(Access, Access.staff("manageSettings", "admin:read")),
    HttpApiEndpoint.patch("change", path, { payload: SettingsWrite, success: AdminSettings })
      .annotate(Access, Access.staff("manageSettings", "admin:write"))
  )
  .middleware(Guard)
{}

/** Registration modes by Mastodon's names. */
const modes = { open: "open", approval: "approved", closed: "none" } as const

/** Server settings: texts, registrations and policies (S-017, S-235). */
export const layer = group(
  AdminSettingsGroup,
  Effect.fn(function*(handlers) {
    const documents = yield* InstanceDocuments
    const instance = yield* Instance
    const policies = yield* InstancePolicies
    const settings = yield* InstanceSettings

    const versions = (kind: DocumentKind) =>
      Effect.map(
        Effect.orDie(documents.versions(kind)),
        (all) =>
          all.map(({ effectiveOn, html, notice, publishedAt }) => ({
            content: html,
            effectiveDate: effectiveOn,
            notice,
            publishedAt: timestamp(publishedAt)
          }))
      )
    const shown = Effect.gen(function*() {
      const about = yield* instance.about
      const rules = yield* policies.current
      return Reply.json(json<AdminSettings>({
        siteTitle: about.title,
        siteShortDescription: about.shortDescription,
        siteExtendedDescription: about.extendedDescription?.html ?? "",
        siteContactEmail: about.contactEmail,
        siteContactUsername: about.contactUsername,
        languages: about.languages,
        defaultLanguage: about.defaultLanguage,
        accentColor: about.accentColor,
        registrationsMode: modes[rules.registrations],
        closedRegistrationsMessage: rules.registrationsMessage ?? "",
        requireInviteText: rules.reasonRequired,
        minAge: rules.minAge,
        autoCloseRegistrations: rules.autoClose,
        timelinesAccess: rules.timelines,
        storageBudgets: budgetsOf(about.storageBudgets),
        privacyPolicy: yield* versions("privacy_policy"),
        termsOfService: yield* versions("terms_of_service")
      }))
    })

    return handlers.handleAll({
      show: traced("admin.settings.show")(() => shown),
      change: traced("admin.settings.change")(function*({ payload }) {
        yield* settings.change(yield* Caller.account, yield* changeOf(payload, yield* policies.current))
        return yield* shown
      })
    })
  })
).pipe(Layer.provide([InstanceDocuments.layer, InstanceSettings.layer]))

const budgetsOf = (budgets: StorageBudgets) => ({
  attachments: budgets.attachments ?? null,
  profiles: budgets.profiles ?? null,
  emoji: budgets.emoji ?? null,
  cards: budgets.cards ?? null,
  database: budgets.database ?? null
})

const texts = [
  "title",
  "description",
  "extendedDescription",
  "contactAccount",
  "defaultLanguage",
  "accentColor",
  "registrationsMessage"
] as const

/** Returns the settings that the request names. */
const changeOf = Effect.fnUntraced(function*(given: SettingsWrite, now: Policies) {
  const change: { -readonly [Key in keyof InstanceChange]: InstanceChange[Key] } = {}
  for (const key of texts) if (given[key] !== undefined) change[key] = given[key] ?? ""
  for (const key of ["privacyPolicy", "termsOfService"] as const) {
    const document = given[key]
    if (document === undefined) continue
    change[key] = {
      text: document.content ?? "",
      since: document.effectiveDate || undefined,
      notice: document.notice ?? undefined
    }
  }
  if (given.contactEmail !== undefined) {
    const email = given.contactEmail?.trim() ?? ""
    const parsed = email === "" ? "" : EmailAddresses.parse(email)
    if (parsed === undefined) return yield* validationFailed("E-mail address is invalid")
    change.contactEmail = parsed
  }
  if (given.languages !== undefined) change.languages = given.languages
  if (given.registrations !== undefined) {
    const mode = (["open", "approval", "closed"] as const).find((one) => modes[one] === given.registrations)
    if (mode === undefined) return yield* validationFailed("Registrations mode is not included in the list")
    change.registrations = mode
  }
  if (given.reasonRequired !== undefined) change.reasonRequired = given.reasonRequired
  if (given.autoClose !== undefined) change.autoClose = given.autoClose
  if ("minAge" in given) change.minAge = given.minAge ?? null
  if (given.storageBudgets !== undefined) {
    const named = Object.entries(given.storageBudgets).filter(([, bytes]) => bytes !== null && bytes !== undefined)
    change.storageBudgets = Object.fromEntries(named)
  }
  if (given.timelinesAccess !== undefined) {
    change.timelinesAccess = yield* accessOf(given.timelinesAccess, now.timelines)
  }
  return change
})

/** Returns the access of each timeline; omitted ones stay unchanged. */
const accessOf = Effect.fnUntraced(
  function*(given: NonNullable<SettingsWrite["timelinesAccess"]>, before: TimelinesAccess) {
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
