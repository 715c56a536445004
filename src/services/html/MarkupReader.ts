import { Effect } from "effect"
import { Parser } from "htmlparser2"
import type { BoundedText } from "../text/BoundedText.ts"

/*
 * HTML and XML of others as a row of elements and texts, by `htmlparser2`, in bounded time. A document is read up to the first
 * thing in it that exceeds a bound. The rest counts as absent.
 */

/** How deep elements nest; the parser's time for an element grows with its depth. */
export const depthMax = 512
/** Elements of a document. */
export const elementsMax = 50_000
/** Attributes of an element, and characters of a value; the rest of a value is cut. */
export const attributesMax = 256
const valueCharactersMax = 8_192
/** Characters of a page that are read at all, and before others get their turn. */
const pageCharactersMax = 1_048_576
const charactersPerTurn = 16_384

/** Callbacks of a reader. Names are in lower case. */
interface MarkupHandlers {
  readonly open?: (name: string, attributes: Readonly<Record<string, string>>) => void
  readonly text?: (text: string) => void
  readonly close?: (name: string) => void
}

const boundedParser = ({ close, open, text }: MarkupHandlers) => {
  let [depth, elements, attributesLeft] = [0, 0, attributesMax]
  let attributes: Record<string, string> = {}
  let ended = false
  const end = () => {
    ended = true
    parser.pause()
  }
  const parser = new Parser({
    onopentagname: () => {
      attributes = {}
      attributesLeft = attributesMax
      if (++depth > depthMax || ++elements > elementsMax) end()
    },
    onattribute: (name, value) => {
      if (--attributesLeft < 0) end()
      else if (!Object.hasOwn(attributes, name)) attributes[name] = value.slice(0, valueCharactersMax)
    },
    onopentag: (name) => {
      if (!ended) open?.(name, attributes)
    },
    ontext: (part) => {
      if (!ended) text?.(part)
    },
    onclosetag: (name) => {
      depth--
      if (!ended) close?.(name)
    }
  })
  return {
    /** Returns false once a bound is reached; the rest is ignored. */
    write: (part: string): boolean => {
      if (!ended) parser.write(part)
      return !ended
    },
    end: () => {
      if (!ended) parser.end()
    }
  }
}

/** Reads a document at once. */
export const readMarkup = (markup: BoundedText, handlers: MarkupHandlers): void => {
  const parser = boundedParser(handlers)
  if (parser.write(markup)) parser.end()
}

/** Reads a page of any length, up to `pageCharactersMax`, during which others get their turn. */
export const readPageMarkup = Effect.fnUntraced(function*(page: string, handlers: MarkupHandlers) {
  const parser = boundedParser(handlers)
  const length = Math.min(page.length, pageCharactersMax)
  for (let at = 0; at < length; at += charactersPerTurn) {
    if (at > 0) yield* Effect.yieldNow
    if (!parser.write(page.slice(at, Math.min(length, at + charactersPerTurn)))) return
  }
  parser.end()
})
