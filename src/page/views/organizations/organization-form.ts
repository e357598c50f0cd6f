import { useState } from 'preact/hooks'
import type { Billing, Organization } from './organization.ts'

const limitFields = ['requests_per_minute', 'tokens_per_minute', 'concurrent_requests'] as const

/** A limit of an organization. */
export type LimitField = (typeof limitFields)[number]

type Texts = Readonly<Record<LimitField, string>>

/** The billing and the limits of an organization while a person edits them: an empty limit is that of the settings. */
export type OrganizationForm = {
  readonly billing: Billing
  readonly texts: Texts
  setBilling(billing: Billing): void
  setLimit(field: LimitField, text: string): void
  /** What is wrong with a limit. */
  problem(field: LimitField): string | undefined
  /** The fields of a request that changes them; undefined if one is invalid. */
  change(): OrganizationChange | undefined
}

export type OrganizationChange = { readonly billing: Billing } & Readonly<Record<LimitField, number | null>>

/** Keeps the fields of a new organization, or of one that is edited. */
export function useOrganizationForm(edited?: Organization): OrganizationForm {
  const [billing, setBilling] = useState<Billing>(edited?.billing ?? 'unmetered')
  const [texts, setTexts] = useState<Texts>(() => ({
    requests_per_minute: limitText(edited?.requests_per_minute),
    tokens_per_minute: limitText(edited?.tokens_per_minute),
    concurrent_requests: limitText(edited?.concurrent_requests),
  }))
  const isValid = (field: LimitField) => parseLimit(texts[field]) !== undefined
  return {
    billing,
    texts,
    setBilling,
    setLimit: (field, text) => setTexts({ ...texts, [field]: text }),
    problem: (field) => (isValid(field) ? undefined : 'Enter a whole number above 0, or nothing.'),
    change: () =>
      limitFields.every(isValid)
        ? {
            billing,
            requests_per_minute: parseLimit(texts.requests_per_minute) ?? null,
            tokens_per_minute: parseLimit(texts.tokens_per_minute) ?? null,
            concurrent_requests: parseLimit(texts.concurrent_requests) ?? null,
          }
        : undefined,
  }
}

function limitText(limit: number | null | undefined): string {
  return limit == null ? '' : String(limit)
}

/** Returns null for no limit, and undefined for a text that is none. */
function parseLimit(text: string): number | null | undefined {
  const digits = text.trim()
  if (digits === '') return null
  const limit = /^\d+$/.test(digits) ? Number(digits) : 0
  return limit > 0 && Number.isSafeInteger(limit) ? limit : undefined
}
