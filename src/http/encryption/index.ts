import * as EncryptedMessageRoutes from "./EncryptedMessageRoutes.ts"

export const groups = [EncryptedMessageRoutes.EncryptedMessagesGroup] as const

/** Answers the groups. */
export const layer = EncryptedMessageRoutes.layer
