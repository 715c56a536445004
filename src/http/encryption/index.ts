import * as EncryptedMessageRoutes from "./EncryptedMessageRoutes.ts"

export const groups = [EncryptedMessageRoutes.EncryptedMessagesGroup] as const

/** Handlers of the groups. */
export const layer = EncryptedMessageRoutes.layer
