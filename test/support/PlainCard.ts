import type { Card } from "../../src/services/cards/Card.ts"

/** A preview card with no more than a title. */
export const plainCard: Card = {
  title: "t",
  description: "",
  language: null,
  type: "link",
  authorName: "",
  authorUrl: "",
  providerName: "",
  providerUrl: "",
  html: "",
  width: 0,
  height: 0,
  embedUrl: "",
  imageDescription: "",
  publishedAt: null
}
