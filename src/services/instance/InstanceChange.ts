import type { NewDocument } from "./InstanceDocuments.ts"
import type { SettingChanges } from "./SettingValues.ts"

/** Changes by staff: settings, and new versions of documents. */
export interface InstanceChange extends SettingChanges {
  readonly privacyPolicy?: NewDocument
  readonly termsOfService?: NewDocument
}
