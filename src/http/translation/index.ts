import * as StatusTranslations from "./StatusTranslations.ts"

export const groups = [StatusTranslations.TranslationsGroup] as const

/** Handlers of the groups. */
export const layer = StatusTranslations.layer
