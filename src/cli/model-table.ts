import type { Model } from '../gateway/models/model.ts'
import { type Column, table } from './output.ts'

/** The models for a person; `reasons` adds why a model is off. */
export function modelTable(models: readonly Model[], reasons: boolean): string {
  return table(models, reasons ? [...columns, reason] : columns)
}

const columns: readonly Column<Model>[] = [
  { title: 'MODEL', value: ({ slug }) => slug },
  { title: 'INPUT', value: ({ pricing }) => amount(pricing?.input), align: 'right' },
  { title: 'OUTPUT', value: ({ pricing }) => amount(pricing?.output), align: 'right' },
  { title: 'CACHED', value: ({ pricing }) => amount(pricing?.cache_read), align: 'right' },
  { title: 'CONTEXT', value: ({ contextWindow }) => amount(contextWindow), align: 'right' },
  { title: 'ROUTES', value: routesOf },
]

const reason: Column<Model> = {
  title: 'STATE',
  value: ({ disabled, keyMissing }) => {
    if (disabled !== undefined) return `off: ${disabled}`
    return keyMissing === undefined ? 'on' : `on, without a key: ${keyMissing}`
  },
}

function amount(value: number | undefined): string {
  return value?.toLocaleString('en-US', { maximumFractionDigits: 9 }) ?? '-'
}

function routesOf({ routes }: Model): string {
  return routes.map(({ provider, model }) => `${provider.name}:${model}`).join(', ') || '-'
}
