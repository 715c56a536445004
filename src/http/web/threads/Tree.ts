import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../shell/Visit.ts"
import { articleOf } from "../status/Article.ts"
import type { ShownStatus } from "../status/StatusText.ts"

/** Posts below a thread's post that are shown at once; further branches are folded, on any level. */
const unfoldedMax = 200
/** Maximum posts below a post on its page. */
export const repliesMax = 1_000
/** Levels that are indented; deeper replies are as wide as these. */
const levelsMax = 6

interface Node {
  readonly status: ShownStatus
  readonly children: Array<Node>
}

/** Builds the tree of replies; one whose parent is not shown is below the root. `replies` is depth first. */
const treeOf = (rootId: string, replies: ReadonlyArray<ShownStatus>): Node["children"] => {
  const top: Node["children"] = []
  const nodes = new Map<string, Node>()
  for (const status of replies) {
    const node: Node = { status, children: [] }
    nodes.set(status.id, node)
    const parent = status.inReplyToId === rootId ? undefined : nodes.get(status.inReplyToId ?? "")
    const siblings = parent?.children ?? top
    siblings.push(node)
  }
  return top
}

/**
 * Renders replies as nested lists with lines, in one pass without recursion: a thread may be thousands of levels deep.
 */
export const treeHtml = (visit: Visit, rootId: string, replies: ReadonlyArray<ShownStatus>, now: number): Html => {
  const { say } = visit.reader.words
  const pieces: Array<Html> = []
  let shown = 0
  interface Step {
    readonly node?: Node
    readonly close?: Html
    readonly level: number
    /** True inside of a fold. */
    readonly isFolded: boolean
  }
  const stepsOf = (nodes: ReadonlyArray<Node>, level: number, isFolded: boolean): Array<Step> =>
    nodes.map((node) => ({ node, level, isFolded })).toReversed()
  const stack: Array<Step> = stepsOf(treeOf(rootId, replies), 1, false)
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    const { close, isFolded, level, node } = step
    if (close !== undefined) pieces.push(close)
    if (node === undefined) continue
    const folds = !isFolded && shown >= unfoldedMax
    const { account, id } = node.status
    pieces.push(html`<li>${
      folds
        ? html`<details class="fold"><summary>${say("Replies of {account}", { account: `@${account.acct}` })}</summary>`
        : ""
    }${articleOf(visit, node.status, { now, inThread: true })}`)
    shown++
    const end = folds ? html`</details></li>` : html`</li>`
    if (node.children.length === 0) {
      pieces.push(end)
      continue
    }
    // A chain of the author's own replies stays on its level: it reads as one text.
    const [only] = node.children
    const isFlat = level >= levelsMax || node.children.length === 1 && only?.status.account.id === account.id
    pieces.push(
      html`<ol class="${isFlat ? "flat" : "branch"}" aria-label="${
        say("{count, plural, one {# reply} other {# replies}}", { count: node.children.length })
      }" id="replies-${id}">`
    )
    stack.push({ close: html`</ol>${end}`, level, isFolded })
    stack.push(...stepsOf(node.children, isFlat ? level : level + 1, isFolded || folds))
  }
  return html`<ol class="thread">${pieces}</ol>`
}
