import { Context, type Redacted } from "effect"

/** What the server signs with, the same on all its nodes and after every restart. */
export class Secrets extends Context.Service<Secrets, {
  /** For cookies and links; 32 characters at least. */
  readonly signingKey: Redacted.Redacted<string>
}>()("murmuration/services/instance/Secrets") {}
