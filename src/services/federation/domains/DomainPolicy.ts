import { Schema } from "effect"

/** Severity of a block: none, hidden from public timelines, or no contact. */
export type Severity = DomainBlock["severity"]

export const DomainBlock = Schema.Struct({
  domain: Schema.String,
  severity: Schema.Literals(["noop", "silence", "suspend"]),
  rejectMedia: Schema.Boolean,
  rejectReports: Schema.Boolean
})
export type DomainBlock = typeof DomainBlock.Type

/** The operator's rules about other servers. `limited`: only domains in `allows` may be contacted. */
export interface DomainLists {
  readonly blocks: ReadonlyMap<string, DomainBlock>
  readonly allows: ReadonlySet<string>
  readonly limited: boolean
}

/** Effective rules for one host. */
export interface DomainPolicy {
  readonly severity: Severity
  readonly rejectMedia: boolean
  readonly rejectReports: boolean
  /** Communication is allowed: the host is not suspended and, in limited federation, is on the list. */
  readonly allowed: boolean
}

const severities: ReadonlyArray<Severity> = ["noop", "silence", "suspend"]
export const isSeverity = Schema.is(DomainBlock.fields.severity)
const stricter = (a: Severity, b: Severity): Severity => severities.indexOf(a) > severities.indexOf(b) ? a : b

/** Returns true if a block is at least as strict as another one (Mastodon's `stricter_than?`). */
export const isStricter = (block: Omit<DomainBlock, "domain">, other: Omit<DomainBlock, "domain">): boolean =>
  block.severity === "suspend" ||
  (severities.indexOf(block.severity) >= severities.indexOf(other.severity) &&
    (block.rejectMedia || !other.rejectMedia) && (block.rejectReports || !other.rejectReports))

/** Returns the names by which rules may match a host: itself, itself without its port, and every parent domain. */
export const namesOf = (host: string): ReadonlyArray<string> => {
  const name = host.replace(/:\d+$/, "")
  const labels = name.split(".")
  const above = labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join("."))
  return name === host ? [host, ...above] : [host, name, ...above]
}

const free: DomainPolicy = { severity: "noop", rejectMedia: false, rejectReports: false, allowed: true }

/**
 * Returns the effective rules for a normalised host (`normalizeDomain`): the strictest of the blocks of the host and its
 * parent domains. A rule for a subdomain thus cannot weaken its parent's rule. The list of allowed domains matches
 * exactly.
 */
export const policyOf = ({ allows, blocks, limited }: DomainLists, host: string): DomainPolicy => {
  if (blocks.size === 0 && !limited) return free
  const found = blocks.size === 0 ? [] : namesOf(host).flatMap((name) => blocks.get(name) ?? [])
  const severity = found.reduce<Severity>((worst, block) => stricter(worst, block.severity), "noop")
  return {
    severity,
    rejectMedia: severity === "suspend" || found.some(({ rejectMedia }) => rejectMedia),
    rejectReports: severity === "suspend" || found.some(({ rejectReports }) => rejectReports),
    allowed: severity !== "suspend" && (!limited || allows.has(host))
  }
}

/** Returns the rules for an account: the stricter of those of its handle's domain and its actor's host. */
export const policyOfAll = (lists: DomainLists, hosts: ReadonlyArray<string>): DomainPolicy => {
  const policies = hosts.map((host) => policyOf(lists, host))
  return {
    severity: policies.reduce<Severity>((worst, { severity }) => stricter(worst, severity), "noop"),
    rejectMedia: policies.some(({ rejectMedia }) => rejectMedia),
    rejectReports: policies.some(({ rejectReports }) => rejectReports),
    allowed: policies.every(({ allowed }) => allowed)
  }
}
