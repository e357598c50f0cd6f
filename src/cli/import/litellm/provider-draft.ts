import type { ProviderSettings } from '../../../config/provider-settings.ts'

/** The provider of a deployment, before it has a name in weir.yaml. */
export type ProviderDraft = {
  readonly kind: string
  /** Without `kind`, and without a key that the source contains. */
  readonly settings: Omit<ProviderSettings, 'kind'>
  /** Identifies a key that the source contains in plain text. It is never printed. */
  readonly literalKey?: string
  /** Headers whose values the source contains in plain text, by name. They are never printed. */
  readonly literalHeaders: Readonly<Record<string, string>>
}

/** Two drafts with the same identity are one provider. It contains secrets. */
export function identityOf(draft: ProviderDraft): string {
  const { kind, settings, literalKey, literalHeaders } = draft
  const sorted = Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([kind, sorted, literalKey, Object.entries(literalHeaders)])
}
