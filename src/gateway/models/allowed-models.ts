import { matchesModel } from '../../domain/accounting/model-pattern.ts'
import { RecentMap } from '../../lib/recent-map.ts'
import type { ModelLists } from '../access/caller-limits.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'

/** For each state of the models: lists with the same entries share a view. */
const views = new WeakMap<Models, RecentMap<string, Models>>()
/** Beyond this number of views the oldest is dropped, and made again if it is needed. */
const maxViews = 1000

/** The models as a key with these lists sees them: others are not listed, and are found to be not allowed. */
export function allowedModels(models: Models, lists: ModelLists | undefined): Models {
  if (lists === undefined) return models
  const known = views.get(models) ?? new RecentMap<string, Models>(maxViews)
  views.set(models, known)
  const view = known.get(lists.id) ?? createView(models, lists)
  // Also a known one, so that those in use are dropped last.
  known.set(lists.id, view)
  return view
}

function createView(models: Models, { lists }: ModelLists): Models {
  const conditions = lists.map((list) => conditionOf(list, models))
  const allows = (model: Model) => conditions.every((allowed) => allowed(model.slug))
  let enabled: readonly Model[] | undefined
  return {
    find: (name) => models.find(name),
    sharing: (name) => models.sharing(name).filter(allows),
    get enabled() {
      return (enabled ??= models.enabled.filter(allows))
    },
    all: models.all,
    allows,
  }
}

/** Whether a list has a slug: by itself, by a pattern, or by another name of the model at this moment. */
function conditionOf(list: readonly string[], models: Models): (slug: string) => boolean {
  const slugs = new Set<string>()
  const patterns: string[] = []
  for (const entry of list) {
    if (entry.includes('*')) patterns.push(entry)
    else slugs.add(models.find(entry)?.slug ?? entry)
  }
  return (slug) => slugs.has(slug) || patterns.some((pattern) => matchesModel(pattern, slug))
}
