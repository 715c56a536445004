import { Effect } from "effect"
import { getDomain } from "tldts"
import { commandName } from "../../layers/CommandName.ts"
import { Environment } from "../../layers/Environment.ts"
import * as SmtpSession from "../../layers/mail/SmtpSession.ts"
import { textsOf } from "../../layers/probes/DnsRecords.ts"
import { type Examination, Fail, Ok, Skip, Warn } from "./Examination.ts"

/** Runs a check of the sender's domain, if e-mails are sent. */
const ofSender = <R>(check: (domain: string) => Examination<R>["examine"]) =>
  Effect.flatMap(Environment, ({ server: { mailFrom }, smtpUrl }) => {
    const domain = /@([^@>\s]+)>?\s*$/.exec(mailFrom)?.[1]?.toLowerCase()
    if (smtpUrl === undefined) return Effect.succeed(Skip({ words: "SMTP_URL is not set" }))
    return domain === undefined
      ? Effect.succeed(Fail({ words: `MAIL_FROM has no domain: ${mailFrom}` }))
      : check(domain)
  })

const unreachable = Warn({ words: "the name servers did not respond" })

/** Checks of outgoing e-mail: the mail server, and what receivers look up about the sender's domain. */
export const mailChecks: ReadonlyArray<Examination<Environment>> = [
  {
    subject: "SMTP",
    examine: Effect.gen(function*() {
      const { dataDir, smtpUrl } = yield* Environment
      if (smtpUrl === undefined) return Skip({ words: `SMTP_URL is not set, e-mails are written to ${dataDir}/mail` })
      const steps: Array<SmtpSession.Step> = []
      yield* Effect.scoped(SmtpSession.open(smtpUrl, (step) => Effect.sync(() => steps.push(step))))
      const words = steps.map((step) => step.words).join("; ")
      return Ok({ words: `${words}; ${commandName} mail test ADDRESS sends an e-mail` })
    })
  },
  {
    // RFC 7208
    subject: "SPF",
    examine: ofSender((domain) =>
      Effect.map(textsOf(domain), (found) => {
        if (found.kind === "unreachable") return unreachable
        const records = found.kind === "records" ? found.records.filter((text) => /^v=spf1(?: |$)/i.test(text)) : []
        if (records.length > 1) return Fail({ words: `${domain} has ${records.length} records; one is allowed` })
        return records[0] === undefined
          ? Warn({ words: `${domain} has no record; many receivers put its e-mails into spam` })
          : Ok({ words: `${domain}: ${records[0]}` })
      })
    )
  },
  {
    // RFC 6376: the key is at a name that only the mail server knows, so only the existence of some key can be seen.
    subject: "DKIM",
    examine: ofSender((domain) =>
      Effect.map(textsOf(`_domainkey.${domain}`), ({ kind }) =>
        kind === "unreachable"
          ? unreachable
          : kind === "absent"
          ? Warn({ words: `${domain} has no key; let the mail server sign and publish its key` })
          : Ok({ words: `${domain} has names for keys; a received e-mail shows whether it is signed` }))
    )
  },
  {
    // RFC 7489: without its own record, the one of the registered domain applies.
    subject: "DMARC",
    examine: ofSender((domain) =>
      Effect.gen(function*() {
        for (const name of new Set([domain, getDomain(domain) ?? domain])) {
          const found = yield* textsOf(`_dmarc.${name}`)
          if (found.kind === "unreachable") return unreachable
          const record = found.kind === "records" ? found.records.find((text) => /^v=DMARC1/i.test(text)) : undefined
          if (record !== undefined) return Ok({ words: `${name}: ${record}` })
        }
        return Warn({ words: `${domain} has no record; large receivers require one` })
      })
    )
  }
]
