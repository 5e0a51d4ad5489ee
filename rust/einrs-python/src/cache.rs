//! A bounded table in two generations: what is used stays, what is not is dropped in bulk.
//!
//! It holds no lock and knows no Python. Whatever leaves the table is handed to the caller, who
//! drops it after the guard is gone: a destructor may run Python code, which may come back here.

use hashbrown::HashTable;

/// Keys are compared by the caller, so that a look-up needs no owned key.
pub(crate) struct Cache<K, V> {
    young: HashTable<Slot<K, V>>,
    old: HashTable<Slot<K, V>>,
    generation: usize,
    hits: u64,
    misses: u64,
}

struct Slot<K, V> {
    hash: u64,
    key: K,
    value: V,
}

/// What has left the table: to be dropped where Python code may run.
#[must_use]
pub(crate) struct Retired<K, V>(
    #[expect(dead_code, reason = "kept only to be dropped")] Vec<Slot<K, V>>,
);

/// Counters since the start or the last clearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Look-ups that found their key.
    pub(crate) hits: u64,
    /// Look-ups that did not.
    pub(crate) misses: u64,
    /// Entries held.
    pub(crate) size: usize,
    /// Entries held at most.
    pub(crate) limit: usize,
}

impl<K: PartialEq, V> Cache<K, V> {
    /// A table of at most twice `generation` entries.
    #[must_use]
    pub(crate) const fn new(generation: usize) -> Self {
        Self { young: HashTable::new(), old: HashTable::new(), generation, hits: 0, misses: 0 }
    }

    /// What `read` makes of the entry with this hash for which `is_key` holds.
    #[inline]
    pub(crate) fn get<R>(
        &mut self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        read: impl FnOnce(&V) -> R,
    ) -> Option<R> {
        if let Some(slot) = self.young.find(hash, |slot| slot.hash == hash && is_key(&slot.key)) {
            self.hits += 1;
            return Some(read(&slot.value));
        }
        self.get_old(hash, is_key, read)
    }

    /// An entry of the old generation that is used again moves to the young one, while there is
    /// room.
    fn get_old<R>(
        &mut self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        read: impl FnOnce(&V) -> R,
    ) -> Option<R> {
        let found = |slot: &Slot<K, V>| slot.hash == hash && is_key(&slot.key);
        let Ok(entry) = self.old.find_entry(hash, found) else {
            self.misses += 1;
            return None;
        };
        self.hits += 1;
        if self.young.len() >= self.generation {
            return Some(read(&entry.get().value));
        }
        let (slot, _) = entry.remove();
        let result = read(&slot.value);
        self.young.insert_unique(hash, slot, |slot| slot.hash);
        Some(result)
    }

    /// Adds an entry. Another thread, or a call made while the value was computed, may have been
    /// faster: then its entry stays and this one is retired.
    pub(crate) fn insert(&mut self, hash: u64, key: K, value: V) -> Retired<K, V> {
        let slot = Slot { hash, key, value };
        let same = |other: &Slot<K, V>| other.hash == hash && other.key == slot.key;
        if self.young.find(hash, same).is_some() || self.old.find(hash, same).is_some() {
            return Retired(vec![slot]);
        }
        let mut retired = Vec::new();
        if self.young.len() >= self.generation {
            retired.extend(self.old.drain());
            std::mem::swap(&mut self.young, &mut self.old);
        }
        self.young.insert_unique(hash, slot, |slot| slot.hash);
        Retired(retired)
    }

    /// Empties the table and its counters.
    pub(crate) fn clear(&mut self) -> Retired<K, V> {
        (self.hits, self.misses) = (0, 0);
        Retired(self.young.drain().chain(self.old.drain()).collect())
    }

    /// The counters and the size.
    #[must_use]
    pub(crate) fn statistics(&self) -> Statistics {
        let size = self.young.len() + self.old.len();
        Statistics { hits: self.hits, misses: self.misses, size, limit: 2 * self.generation }
    }
}
