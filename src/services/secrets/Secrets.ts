import { Context, type Redacted } from "effect"

/** Signing keys of the server, the same on all nodes and after each restart. */
export class Secrets extends Context.Service<Secrets, {
  /** Key for cookies and links; at least 32 characters. */
  readonly signingKey: Redacted.Redacted<string>
  /**
   * VAPID keys (RFC 8292) in base64url, by which push services know this server. Apps subscribe with the public key.
   */
  readonly vapid: { readonly publicKey: string; readonly privateKey: Redacted.Redacted<string> }
}>()("murmuration/services/secrets/Secrets") {}
