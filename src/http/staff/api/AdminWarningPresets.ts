import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { type WarningPreset, WarningPresets } from "../../../services/moderation/WarningPresets.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { AdminWarningPreset, WarningPresetWrite } from "../wire/WarningPreset.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"
import { staffHandlers } from "./StaffTable.ts"

const path = "/api/v1/admin/warning_presets"
const at = staffEndpoints({
  path,
  permission: "manageSettings",
  // All staff who moderate accounts.
  readers: ["manageSettings", "manageUsers", "manageReports"],
  row: AdminWarningPreset,
  write: WarningPresetWrite
})

export class AdminWarningPresetsGroup extends HttpApiGroup.make("admin/warningPresets")
  .add(
    at.wholeList,
    at.create,
    at.show,
    at.replace,
    at.change,
    at.remove
  )
  .middleware(Guard)
{}

const shown = ({ createdAt, id, updatedAt, ...preset }: WarningPreset) =>
  json<AdminWarningPreset>({
    ...preset,
    id: String(id),
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt)
  })

const wishOf = ({ text, title }: WarningPresetWrite) => ({ text: text ?? undefined, title: title ?? undefined })

/** Preset texts for moderation warnings. Mastodon has only a web page for them. */
export const layer = group(
  AdminWarningPresetsGroup,
  Effect.fn(function*(handlers) {
    const presets = yield* WarningPresets
    const { changes, create, handlers: common, listAll } = staffHandlers({
      name: "warningPresets",
      table: presets,
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    return handlers.handleAll({
      ...common,
      list: listAll(presets.list),
      create: create((by, write: WarningPresetWrite) => presets.create(by, wishOf(write))),
      ...changes((by, id, write: WarningPresetWrite) => presets.update(by, id, wishOf(write)))
    })
  })
).pipe(Layer.provide(WarningPresets.layer))
