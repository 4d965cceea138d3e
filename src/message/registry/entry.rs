//! What the lists of the registry have in common: an entry is found by its name, shows it, and
//! builds a cluster for a visitor.

/// What a row of a registry says of something that it may leave out.
macro_rules! row {
    (@option) => {
        None
    };
    (@option $some:literal) => {
        Some($some)
    };
    (@flag) => {
        false
    };
    (@flag $some:ident) => {
        true
    };
}

/// Gives the type of an entry its name and its clusters. A list says what its entries are, of what
/// size their clusters may be, and who visits those.
macro_rules! registered {
    (
        $list:ident of $entry:ident, each of $size:ty, for $visitor:ident,
        or else $unknown:ident:
        $($name:literal: $type:ident => $make:expr;)*
    ) => {
        impl $entry {
            /// The one of this name.
            ///
            /// # Errors
            /// If there is none.
            pub fn named(name: &str) -> Result<&'static Self, RegistryError> {
                let found = $list.iter().find(|entry| entry.name == name);
                found.ok_or_else(|| RegistryError::$unknown(name.to_owned()))
            }

            /// Builds a cluster of it, and does something with that.
            ///
            /// # Errors
            /// If there is no such cluster.
            pub fn build<V: $visitor>(
                &'static self,
                size: $size,
                visitor: V,
            ) -> Result<V::Output, RegistryError> {
                self.check(size)?;
                match self.name {
                    $($name => {
                        let make: fn($size) -> Result<Vec<$type>, ClusterError> = $make;
                        let cluster = make(size).map_err(|why| RegistryError::Unfit($name, why))?;
                        Ok(visitor.visit(self, cluster))
                    })*
                    name => unreachable!("{name} is in the registry"),
                }
            }

            /// Refuses a cluster that would be too large.
            fn check_nodes(&self, nodes: usize) -> Result<(), RegistryError> {
                let (algorithm, most) = (self.name, self.most_nodes);
                if nodes > most {
                    return Err(RegistryError::TooManyNodes { algorithm, most });
                }
                Ok(())
            }
        }

        impl fmt::Display for $entry {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name)
            }
        }
    };
}
