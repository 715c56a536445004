import { Schema } from "effect"

/** How far the operator keeps a domain away: not at all, out of what everybody sees, or altogether. */
export type Severity = DomainBlock["severity"]

export const DomainBlock = Schema.Struct({
  domain: Schema.String,
  severity: Schema.Literals(["noop", "silence", "suspend"]),
  rejectMedia: Schema.Boolean,
  rejectReports: Schema.Boolean
})
export type DomainBlock = typeof DomainBlock.Type

/** What the operator decided about other servers. `limited`: only the domains in `allows` are spoken to. */
export interface DomainLists {
  readonly blocks: ReadonlyMap<string, DomainBlock>
  readonly allows: ReadonlySet<string>
  readonly limited: boolean
}

/** What holds for one host. */
export interface DomainPolicy {
  readonly severity: Severity
  readonly rejectMedia: boolean
  readonly rejectReports: boolean
  /** It is listened to, asked and written to: neither suspended nor, in limited federation, missing from the list. */
  readonly allowed: boolean
}

const severities: ReadonlyArray<Severity> = ["noop", "silence", "suspend"]
export const isSeverity = Schema.is(DomainBlock.fields.severity)
const stricter = (a: Severity, b: Severity): Severity => severities.indexOf(a) > severities.indexOf(b) ? a : b

/** Whether a block says more than another one (Mastodon's `stricter_than?`). */
export const isStricter = (block: Omit<DomainBlock, "domain">, other: Omit<DomainBlock, "domain">): boolean =>
  block.severity === "suspend" ||
  (severities.indexOf(block.severity) >= severities.indexOf(other.severity) &&
    (block.rejectMedia || !other.rejectMedia) && (block.rejectReports || !other.rejectReports))

/** The names under which a rule may speak of a host: itself, itself without its port, and every domain above. */
export const namesOf = (host: string): ReadonlyArray<string> => {
  const name = host.replace(/:\d+$/, "")
  const labels = name.split(".")
  const above = labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join("."))
  return name === host ? [host, ...above] : [host, name, ...above]
}

const free: DomainPolicy = { severity: "noop", rejectMedia: false, rejectReports: false, allowed: true }

/**
 * What holds for a host, which is normal (`normalizeDomain`): the strictest of all blocks of it and of the domains
 * above it. So no rule about a part lets out what a rule about the whole keeps away. The list of allowed domains is
 * exact.
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

/** What holds for an account: the stricter of the policies of its handle's domain and of its actor's host. */
export const policyOfAll = (lists: DomainLists, hosts: ReadonlyArray<string>): DomainPolicy => {
  const policies = hosts.map((host) => policyOf(lists, host))
  return {
    severity: policies.reduce<Severity>((worst, { severity }) => stricter(worst, severity), "noop"),
    rejectMedia: policies.some(({ rejectMedia }) => rejectMedia),
    rejectReports: policies.some(({ rejectReports }) => rejectReports),
    allowed: policies.every(({ allowed }) => allowed)
  }
}
