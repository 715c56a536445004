import { Layer } from "effect"
import * as AdminAnnouncements from "./AdminAnnouncements.ts"
import * as PublicAnnouncements from "./PublicAnnouncements.ts"

export { layer as pages } from "./pages/AnnouncementList.ts"

export const groups = [AdminAnnouncements.AdminAnnouncementsGroup, PublicAnnouncements.AnnouncementsGroup] as const

/** Handlers of the groups. */
export const layer = Layer.mergeAll(AdminAnnouncements.layer, PublicAnnouncements.layer)
