import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { DocumentKind } from "../../../services/instance/Documents.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import type { InstanceChange } from "../../../services/instance/InstanceChange.ts"
import { InstanceDocuments } from "../../../services/instance/InstanceDocuments.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import type { SettingValues } from "../../../services/instance/SettingTable.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { asJsonOf, json } from "../../wire/Keys.ts"
import { AdminSettings, SettingsWrite } from "../wire/AdminSettingsJson.ts"
import { settingChangesOf, settingMembers } from "./SettingFields.ts"

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
    const current = Effect.gen(function*() {
      return { ...(yield* instance.about), ...(yield* policies.current) }
    })
    const shown = Effect.gen(function*() {
      const documents = json<Pick<AdminSettings, "privacy_policy" | "terms_of_service">>({
        privacyPolicy: yield* versions("privacy_policy"),
        termsOfService: yield* versions("terms_of_service")
      })
      const members = settingMembers(yield* current).map(([name, value]) => `"${name}":${value},`)
      return Reply.json(asJsonOf<AdminSettings>(`{${members.join("")}${documents.slice(1)}`))
    })

    return handlers.handleAll({
      show: traced("admin.settings.show")(() => shown),
      change: traced("admin.settings.change")(function*({ payload }) {
        yield* settings.change(yield* Caller.account, yield* changeOf(payload, yield* current))
        return yield* shown
      })
    })
  })
).pipe(Layer.provide([InstanceDocuments.layer, InstanceSettings.layer]))

/** Returns the settings and documents that the request names. */
const changeOf = Effect.fnUntraced(function*(given: SettingsWrite, now: SettingValues) {
  const changes: InstanceChange = yield* settingChangesOf(given, now)
  for (const key of ["privacyPolicy", "termsOfService"] as const) {
    const document = given[key]
    if (document === undefined) continue
    const { content, effectiveDate, notice } = document
    const written = { text: content ?? "", since: effectiveDate || undefined, notice: notice ?? undefined }
    Object.assign(changes, { [key]: written })
  }
  return changes
})
