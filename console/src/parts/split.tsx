/** A list beside its open item. Where there is room for one of them only, the item covers the list. */
import type { ComponentChildren } from 'preact';

import { hashOf, type Page } from '../route.ts';

interface SplitProps {
  page: Page;
  /** Names of the two parts, such as Jobs and Job. */
  names: [list: string, item: string];
  isOpen: boolean;
  isWide?: boolean;
  list: ComponentChildren;
  children: ComponentChildren;
}

export function Split({ page, names: [listName, itemName], isOpen, isWide = false, list, children }: SplitProps) {
  return (
    <div class={`split ${isWide ? 'wide' : ''}`} data-open={isOpen ? '' : undefined}>
      <section class="pane-list" aria-label={listName}>
        {list}
      </section>
      <section class="pane-main" aria-label={itemName}>
        <a class="back" href={hashOf({ page })}>
          ‹ {listName}
        </a>
        {children}
      </section>
    </div>
  );
}
