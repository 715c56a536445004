import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type WarningPreset, WarningPresets } from "../../../services/moderation/WarningPresets.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminWarningPreset, WarningPresetWrite } from "../wire/WarningPreset.ts"

/** Readable by all staff who moderate accounts. */
const reading = Access.staff(["manageSettings", "manageUsers", "manageReports"], "admin:read")
const writing = Access.staff("manageSettings", "admin:write")
const path = "/api/v1/admin/warning_presets"
const one = { params: IdPath, success: AdminWarningPreset }
const changing = { ...one, payload: WarningPresetWrite }

export class AdminWarningPresetsGroup extends HttpApiGroup.make("admin/warningPresets")
  .add(
    HttpApiEndpoint.get("list", path, { success: Schema.Array(AdminWarningPreset) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: WarningPresetWrite, success: AdminWarningPreset })
      .annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const shownJson = ({ createdAt, id, updatedAt, ...preset }: WarningPreset) =>
  json<AdminWarningPreset>({
    ...preset,
    id: String(id),
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt)
  })

const shown = (preset: WarningPreset) => Reply.json(shownJson(preset))

const wishOf = ({ text, title }: WarningPresetWrite) => ({ text: text ?? undefined, title: title ?? undefined })

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: WarningPresetWrite
}

/** Preset texts for moderation warnings. Mastodon has only a web page for them. */
export const layer = group(
  AdminWarningPresetsGroup,
  Effect.fn(function*(handlers) {
    const presets = yield* WarningPresets
    const change = traced("admin.warningPresets.change")(function*({ params, payload }: Changing) {
      return shown(yield* presets.update(yield* Caller.account, params.id, wishOf(payload)))
    })
    return handlers.handleAll({
      list: traced("admin.warningPresets.list")(() =>
        Effect.map(presets.list, (found) => Reply.list(found.map(shownJson)))
      ),
      create: traced("admin.warningPresets.create")(function*({ payload }) {
        return shown(yield* presets.create(yield* Caller.account, wishOf(payload)))
      }),
      show: traced("admin.warningPresets.show")(({ params }) => Effect.map(presets.find(params.id), shown)),
      replace: change,
      change,
      remove: traced("admin.warningPresets.remove")(function*({ params }) {
        yield* presets.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(WarningPresets.layer))
