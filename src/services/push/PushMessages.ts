import { Context, type Effect, Schema } from "effect"

/** Endpoint and keys of an app on a device, which alone can decrypt its messages (RFC 8291). */
export interface Receiver {
  readonly endpoint: string
  /** Keys in base64url. */
  readonly p256dh: string
  readonly auth: string
  /** True for the standard's encoding (aes128gcm); false for that of the last draft (aesgcm), which older apps read. */
  readonly standard: boolean
}

/** The keys are invalid. */
export class InvalidKeys extends Schema.TaggedError<InvalidKeys>()("InvalidKeys", {}) {}

/** An encrypted message, with the headers of its request. */
interface PushMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * Encrypts messages for phones and browsers, and signs them for the push service (RFC 8292). `layers/push` supplies it.
 */
export class PushMessages extends Context.Service<PushMessages, {
  /** Encrypts a text. `subject` is the e-mail address that the push service may contact. */
  readonly message: (receiver: Receiver, text: string, subject: string) => Effect.Effect<PushMessage, InvalidKeys>
}>()("murmuration/services/push/PushMessages") {}
