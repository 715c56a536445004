import { Schema } from "effect"
import { Id, Timestamp } from "../../wire/Common.ts"
import { Text } from "../../wire/Params.ts"

export const AdminWarningPreset = Schema.Struct({
  id: Id,
  title: Schema.String,
  text: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({ identifier: "Admin::WarningPreset" })
export type AdminWarningPreset = typeof AdminWarningPreset.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
export const WarningPresetWrite = Schema.Struct({ title: text, text })
export type WarningPresetWrite = typeof WarningPresetWrite.Type
