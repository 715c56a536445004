import { Effect } from "effect"
import type { DomainBlockChange, DomainBlockRecord } from "../../../../services/federation/domains/DomainBlocks.ts"
import { isSeverity, type Severity } from "../../../../services/federation/domains/DomainPolicy.ts"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { validationFailed } from "../../../../services/runtime/Errors.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Visit } from "../StaffVisit.ts"
import { checkbox, select, textArea } from "./Controls.ts"

export const severityNames: Readonly<Record<Severity, (words: Pick<Messages, "say">) => string>> = {
  noop: ({ say }) => say("None"),
  silence: ({ say }) => say("Limited"),
  suspend: ({ say }) => say("Blocked")
}

/** Fields of a domain block: an existing one, or a new one. */
export const domainBlockFields = (visit: Visit, block?: DomainBlockRecord): Html => {
  const { words: { say } } = visit
  return html`${
    select(visit, {
      name: "severity",
      label: say("Severity"),
      value: block?.severity ?? "silence",
      choices: [
        ["silence", say("Limited: posts are shown only to followers of their authors")],
        ["suspend", say("Blocked: nothing is exchanged and follows are removed")],
        ["noop", say("Only the options below")]
      ]
    })
  }${
    checkbox(visit, {
      name: "reject_media",
      label: say("Reject its media files"),
      checked: block?.rejectMedia ?? false
    })
  }${
    checkbox(visit, {
      name: "reject_reports",
      label: say("Reject its reports"),
      checked: block?.rejectReports ?? false
    })
  }${
    checkbox(visit, {
      name: "obfuscate",
      label: say("Obfuscate its name in the public list"),
      checked: block?.obfuscate ?? false
    })
  }${
    textArea(visit, {
      name: "private_comment",
      label: say("Staff note"),
      value: block?.privateComment ?? "",
      rows: 2
    })
  }${
    textArea(visit, {
      name: "public_comment",
      label: say("Public comment"),
      value: block?.publicComment ?? "",
      rows: 2
    })
  }`
}

/** Returns the change in the form; an unknown severity is refused. */
export const blockChangeIn = Effect.fnUntraced(function*({ form: sent }: Visit) {
  const severity = sent.get("severity") ?? ""
  if (!isSeverity(severity)) return yield* validationFailed("Severity is not included in the list")
  const change: DomainBlockChange = {
    severity,
    rejectMedia: sent.get("reject_media") === "yes",
    rejectReports: sent.get("reject_reports") === "yes",
    obfuscate: sent.get("obfuscate") === "yes",
    privateComment: sent.get("private_comment")?.trim() || null,
    publicComment: sent.get("public_comment")?.trim() || null,
    confirmed: sent.get("confirmed") === "yes"
  }
  return change
})

/** Returns a block as form fields, for an undo form. */
export const fieldsOfBlock = (block: DomainBlockRecord): Readonly<Record<string, string>> => ({
  domain: block.domain,
  severity: block.severity,
  ...(block.rejectMedia && { ["reject_media"]: "yes" }),
  ...(block.rejectReports && { ["reject_reports"]: "yes" }),
  ...(block.obfuscate && { obfuscate: "yes" }),
  ["private_comment"]: block.privateComment ?? "",
  ["public_comment"]: block.publicComment ?? ""
})
