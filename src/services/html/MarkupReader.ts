import { Effect } from "effect"
import { Parser } from "htmlparser2"
import type { BoundedText } from "../text/BoundedText.ts"

/*
 * Reads remote HTML and XML as a sequence of elements and texts, by `htmlparser2`, in bounded time. Reading stops at
 * the first part that exceeds a bound; the rest is ignored.
 */

/** Maximum nesting depth; the parser's time for an element grows with its depth. */
export const depthMax = 512
/** Maximum elements of a document. */
export const elementsMax = 50_000
/** Maximum attributes of an element, and maximum characters of a value; the rest of a value is cut. */
export const attributesMax = 256
const valueCharactersMax = 8_192
/** Maximum characters read of a page, and characters read before yielding. */
const pageCharactersMax = 1_048_576
const charactersPerTurn = 16_384

/** Reader callbacks. Names are in lower case. */
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

/** Reads a document synchronously. */
export const readMarkup = (markup: BoundedText, handlers: MarkupHandlers): void => {
  const parser = boundedParser(handlers)
  if (parser.write(markup)) parser.end()
}

/** Reads a page up to `pageCharactersMax`; yields to other fibers in between. */
export const readPageMarkup = Effect.fnUntraced(function*(page: string, handlers: MarkupHandlers) {
  const parser = boundedParser(handlers)
  const length = Math.min(page.length, pageCharactersMax)
  for (let at = 0; at < length; at += charactersPerTurn) {
    if (at > 0) yield* Effect.yieldNow
    if (!parser.write(page.slice(at, Math.min(length, at + charactersPerTurn)))) return
  }
  parser.end()
})
