import { Context, type Effect, Schema } from "effect"

/** Where messages for one app on one device go, and the keys that only it can read them with (RFC 8291). */
export interface Receiver {
  readonly endpoint: string
  /** base64url */
  readonly p256dh: string
  readonly auth: string
  /** The standard's encoding (aes128gcm), else that of its last draft (aesgcm), which older apps read. */
  readonly standard: boolean
}

/** The keys are none. */
export class InvalidKeys extends Schema.TaggedError<InvalidKeys>()("InvalidKeys", {}) {}

/** A message, encrypted, with the headers of its request. */
interface PushMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Encrypts messages for phones and browsers, and signs for their server (RFC 8292). `layers/push` supplies it. */
export class PushMessages extends Context.Service<PushMessages, {
  /** `subject` is the mail address of whom the push service may write to. */
  readonly message: (receiver: Receiver, text: string, subject: string) => Effect.Effect<PushMessage, InvalidKeys>
}>()("murmuration/services/push/PushMessages") {}
