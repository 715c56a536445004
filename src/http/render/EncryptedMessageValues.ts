import type { EncryptedMessage as MessageRecord } from "../../services/encryption/EncryptedMessages.ts"
import { id, timestamp } from "../wire/Common.ts"
import type { EncryptedMessage } from "../wire/EncryptedMessage.ts"
import type { Values } from "../wire/Keys.ts"

export const encryptedMessageValues = (message: MessageRecord): Values<EncryptedMessage> => ({
  id: id(message.id),
  accountId: id(message.fromAccountId),
  deviceId: message.fromDeviceId,
  type: message.type,
  body: message.body,
  digest: message.digest,
  messageFranking: message.messageFranking,
  createdAt: timestamp(message.createdAt)
})
