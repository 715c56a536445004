import type { RuleRecord } from "../../services/instance/Instance.ts"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { type Html, html } from "../html/Html.ts"

/** Renders the server's rules in the reader's language; empty if there are none. */
export const rulesOf = ({ say, tag }: Catalog, rules: ReadonlyArray<RuleRecord>): Html =>
  rules.length === 0 ?
    html`` :
    html`<h2>${say("Rules")}</h2><ol>${
      rules.map((rule) => rule.translations[tag] ?? rule).map(({ hint, text }) =>
        html`<li dir="auto">${text}${hint === "" ? "" : html`<br><span class="soft">${hint}</span>`}</li>`
      )
    }</ol>`
