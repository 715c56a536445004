import * as LocalIds from "../LocalIds.ts"
import type { Activity } from "./Activities.ts"
import { collectionContext } from "./CollectionDocument.ts"
import { type Document, publicCollection, withContext } from "./Vocabulary.ts"

/* Outgoing activities about collections of accounts (FEP-7aa9). `actor` is the sender's id. */

/** Audience of changes: public, and the followers. */
const shown = (actor: string) => ({ to: [publicCollection], cc: [LocalIds.followers(actor)] })

/** Adds or removes a collection of accounts, or an item in one. `target` is its container. */
export const featureAccounts = (
  type: "Add" | "Remove",
  actor: string,
  target: string,
  object: Document | string,
  number: string
): Activity => {
  const id = `${actor}#collections/${number}/${type.toLowerCase()}`
  return {
    type,
    uri: id,
    document: { "@context": collectionContext, id, type, actor, ...shown(actor), target, object }
  }
}

/** An updated collection. */
export const updateCollection = (actor: string, object: Document, number: string): Activity => {
  const id = `${String(object["id"])}#updates/${number}`
  return {
    type: "Update",
    uri: id,
    document: { "@context": collectionContext, id, type: "Update", actor, ...shown(actor), object }
  }
}

/** Asks an account of another server for consent to be in a collection. */
export const requestFeature = (actor: string, id: string, object: string, collection: string): Activity => ({
  type: "FeatureRequest",
  uri: id,
  document: {
    "@context": collectionContext,
    id,
    type: "FeatureRequest",
    actor,
    to: [object],
    object,
    instrument: collection
  }
})

/** Reply to a FeatureRequest; `authorization` is the id of the consent, undefined for a rejection. */
export const featureResponse = (
  actor: string,
  asker: string,
  request: string,
  number: string,
  authorization: string | undefined
): Activity => {
  const type = authorization === undefined ? "Reject" : "Accept"
  const id = `${actor}#${type === "Accept" ? "accepts" : "rejects"}/feature_requests/${number}`
  const result = authorization === undefined ? {} : { result: authorization }
  return { type, uri: id, document: withContext({ id, type, actor, to: [asker], object: request, ...result }) }
}

/** Revokes an account's consent to be in a collection. */
export const deleteAuthorization = (actor: string, object: Document): Activity => {
  const id = `${String(object["id"])}#delete`
  return {
    type: "Delete",
    uri: id,
    document: { "@context": collectionContext, id, type: "Delete", actor, to: [publicCollection], object }
  }
}
