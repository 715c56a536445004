import { Context, type Redacted } from "effect"

/** What the server signs with, the same on all its nodes and after every restart. */
export class Secrets extends Context.Service<Secrets, {
  /** For cookies and links; 32 characters at least. */
  readonly signingKey: Redacted.Redacted<string>
  /** For messages to phones (RFC 8292), by which push services know this server: apps subscribe for its public half. base64url. */
  readonly vapid: { readonly publicKey: string; readonly privateKey: Redacted.Redacted<string> }
}>()("murmuration/services/instance/Secrets") {}
