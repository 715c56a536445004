import { Layer } from "effect"
import * as AdminInvites from "./AdminInvites.ts"
import * as InvitePage from "./pages/InvitePage.ts"
import * as OwnInvites from "./pages/OwnInvites.ts"

export { layer as staffPages } from "./pages/InviteList.ts"

export const groups = [AdminInvites.AdminInvitesGroup] as const

/** Handlers of the groups. */
export const layer = AdminInvites.layer

/** Public pages. */
export const pages = Layer.mergeAll(InvitePage.layer, OwnInvites.layer)
